import http from 'k6/http';
export default function () {
  const bytes = new Uint8Array([65, 66, 67, 68]);
  for (const body of [bytes.buffer, bytes, bytes.subarray(1, 3), new Uint16Array([65, 66]), new DataView(bytes.buffer), new String('boxed'), new Date(0)]) {
    try { const r = http.post(`${__ENV.BASE}/echo`, body); console.log(Object.prototype.toString.call(body), JSON.stringify(r.json('body')), r.json('headers.content-type')); } catch (e) { console.log(Object.prototype.toString.call(body), 'threw', e.name); }
  }
}
