import http from 'k6/http';
const data = { name: 'x', inner: { list: [1] }, count: 3 };
export default function () {
  const calls = [
    () => http.gett('http://x/'),
    () => data.missing(),
    () => data.inner.missing(1, [2].map((x) => x * 2), { a: 1 }),
    () => data.inner.list.missing().other(),
    () => (data.count > 1 ? data.first() : data.second()),
    () => data.name.missing(`text ${data.count}`),
    () => { for (const x of data.inner.list) { if (x) data.within(x); } },
    () => { try { data.tried(); } finally { data.count += 1; } },
  ];
  for (const call of calls) {
    try { call(); } catch (e) { console.log(e.name, e.message); }
  }
}
