import http from 'k6/http';
import { check } from 'k6';
const data = open('./logo.bin', 'b');
export default function () {
  const form = { field: 'a value', file: http.file(data, 'logo.bin', 'application/octet-stream') };
  const r = http.post(`${__ENV.BASE}/echo`, form);
  check(r, { 'is multipart': (x) => x.json('headers.content-type').startsWith('multipart/form-data; boundary='), 'has the name': (x) => x.json('body').includes('filename="logo.bin"') });
  console.log(http.post(`${__ENV.BASE}/back`, data, { responseType: 'binary' }).body.byteLength, data.byteLength);
}
