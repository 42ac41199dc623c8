import { WebSocket } from 'k6/websockets';
function attempt(name, body) {
  try { console.log(name, body()); } catch (e) { console.log(name, 'threw', e.name); }
}

export default function () {
  const url = `${__ENV.BASE.replace('http', 'ws')}/ws/echo`;
  for (const protocols of ['a', ['a'], ['a', 'b'], [], '', null, undefined, 5, {}, ['a', 'a'], ['a b'], [5]]) {
    attempt(JSON.stringify(protocols) || 'undefined', () => { const s = new WebSocket(url, protocols); const shown = JSON.stringify([s.protocol, s.extensions, s.readyState, s.bufferedAmount, s.binaryType]); s.close(); return shown; });
  }
}
