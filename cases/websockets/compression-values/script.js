import { WebSocket } from 'k6/websockets';
function attempt(name, body) {
  try { console.log(name, body()); } catch (e) { console.log(name, 'threw', e.name); }
}

export default function () {
  const url = `${__ENV.BASE.replace('http', 'ws')}/ws/echo`;
  for (const compression of ['', 'deflate', 'gzip', 'Deflate', ' ', 5, 0, true, false, null, undefined, {}, []]) {
    attempt(JSON.stringify(compression) + typeof compression, () => { new WebSocket(url, null, { compression }).close(); return 'made'; });
  }
}
