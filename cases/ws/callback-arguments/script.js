import ws from 'k6/ws';
export default function () {
  const url = `${__ENV.BASE.replace('http', 'ws')}/ws/echo`;
  for (const values of [[], [url], [url, {}], [url, null], [url, {}, null], [url, 5, 5], [null, () => {}], [url, { unknown: 1 }, (s) => s.close()], [url, null, (s) => s.close(), 'more']]) {
    try { const r = ws.connect(...values); console.log(values.length, r.status); } catch (e) { console.log(values.length, 'threw', e.name); }
  }
}
