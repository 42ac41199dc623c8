import http from 'k6/http';
const pageOf = (n) => JSON.stringify({ items: [n * 2, n * 2 + 1], next: n < 3 ? n + 1 : null });
export default function () {
  const items = [];
  let next = 0, requests = 0;
  do {
    const r = http.post(`${__ENV.BASE}/back`, pageOf(next), { tags: { name: 'page' } });
    items.push(...r.json('items'));
    next = r.json('next');
    requests += 1;
  } while (next !== null);
  console.log(items.join(), requests);
}
