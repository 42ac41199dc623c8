import http from 'k6/http';
function between(text, left, right, all = false) {
  const found = [];
  let from = 0;
  for (;;) {
    const start = text.indexOf(left, from);
    const end = start < 0 ? -1 : text.indexOf(right, start + left.length);
    if (end < 0) break;
    found.push(text.slice(start + left.length, end));
    if (!all) break;
    from = end + right.length;
  }
  return all ? found : found[0] ?? null;
}
export default function () {
  const { body } = http.get(`${__ENV.BASE}/html`);
  console.log(between(body, '<title>', '</title>'), between(body, '<h1', '>'), between(body, '<x>', '</x>'), between(body, '="', '"', true).join());
}
