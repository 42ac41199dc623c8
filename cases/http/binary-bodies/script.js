import http from 'k6/http';
export default function () {
  const bytes = new Uint8Array(256).map((_, i) => i);
  const r = http.post(`${__ENV.BASE}/back`, bytes.buffer, { responseType: 'binary' });
  const got = new Uint8Array(r.body);
  console.log(r.body instanceof ArrayBuffer, got.length, got.every((b, i) => b === i), r.headers['X-Length']);
  const text = http.post(`${__ENV.BASE}/back`, new Uint8Array([0xc3, 0xa9, 0xff, 0x41, 0]).buffer);
  console.log(text.body.length, [...text.body].map((c) => c.codePointAt(0).toString(16)).join());
}
