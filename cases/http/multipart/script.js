import http from 'k6/http';
const file = open('note.txt');
const bytes = open('note.txt', 'b');
export default function () {
  const f = http.file(bytes, 'note.txt', 'text/plain');
  console.log(f.filename, f.content_type, f.data.byteLength, JSON.stringify(Object.keys(f)));
  const r = http.post(`${__ENV.BASE}/echo`, { note: http.file(file, 'n.txt') });
  const boundary = r.json('headers.content-type').split('boundary=')[1];
  console.log(r.json('headers.content-type').split('boundary=')[0], r.json('body').split(boundary).join('BOUNDARY').replace(/\r\n/g, '|'));
}
