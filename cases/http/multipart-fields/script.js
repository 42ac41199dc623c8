import http from 'k6/http';
export default function () {
  const parts = (form) => {
    const r = http.post(`${__ENV.BASE}/echo`, form);
    const [type, boundary] = r.json('headers.content-type').split('; boundary=');
    return type + ' ' + r.json('body').split('--' + boundary).map((part) => JSON.stringify(part.trim())).sort().join(' ');
  };
  console.log(parts({ f: http.file('data', 'name.txt', 'text/x') }));
  console.log(parts({ f: http.file('data', 'n"q\\.txt'), a: 'text' }));
  console.log(parts({ a: 5, b: true, f: http.file('d', 'ü.txt') }));
}
