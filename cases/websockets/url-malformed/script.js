import { WebSocket } from 'k6/websockets';
export default function () {
  for (const url of ['ws://a b/', 'ws://127.0.0.1:port/', 'ws://[::1/', 'ws://%zz/', 'ws://a\x7f/']) {
    try { new WebSocket(url); console.log('made'); } catch (e) { console.log(e.name); }
  }
}
