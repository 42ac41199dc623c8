import * as all from 'k6/websockets';
const { WebSocket } = all;
function attempt(name, body) {
  try { console.log(name, body()); } catch (e) { console.log(name, 'threw', e.name); }
}

export default function () {
  console.log(Object.keys(all).sort().join());
  const url = `${__ENV.BASE.replace('http', 'ws')}/ws/echo`;
  for (const [name, values] of [['no url', []], ['null', [null]], ['number', [5]], ['text', ['abc']], ['http', ['http://x']], ['fragment', [url + '#a']], ['empty', ['']], ['relative', ['/a']], ['ftp', ['ftp://a']], ['params', [url, null, {}]], ['odd params', [url, null, 5]], ['null params', [url, null, null]], ['odd headers', [url, null, { headers: 5 }]], ['odd tags', [url, null, { tags: 5 }]], ['unknown', [url, null, { nothing: 1 }]], ['jar', [url, null, { jar: {} }]]]) {
    attempt(name, () => { const s = new WebSocket(...values); s.close(); return s.url === url ? 'same' : s.url; });
  }
}
