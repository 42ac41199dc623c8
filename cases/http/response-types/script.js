import http from 'k6/http';
export default function () {
  const url = `${__ENV.BASE}/bytes/5`;
  const text = http.get(url), bytes = http.get(url, { responseType: 'binary' }), none = http.get(url, { responseType: 'none' });
  console.log(typeof text.body, text.body.length, bytes.body instanceof ArrayBuffer, bytes.body.byteLength, new Uint8Array(bytes.body).join(), none.body);
  http.get(url, { responseType: 'odd' });
}
