import { WebSocket } from 'k6/websockets';

export default function () {
  const url = `${__ENV.BASE.replace('http', 'ws')}/ws/echo`;
  const socket = new WebSocket(url);
  const show = (when) => console.log(when, socket.readyState, socket.binaryType, socket.protocol, socket.extensions, socket.url === url);
  show('made');
  socket.onopen = (event) => { show('open'); console.log(Object.keys(event).sort().join(), event.type); socket.send('text'); };
  socket.onmessage = (event) => { show('message'); console.log(Object.keys(event).sort().join(), event.type, event.data, event.origin === url); socket.close(1000, 'done'); show('closing'); };
  socket.onclose = (event) => { show('close'); console.log(Object.keys(event).sort().join(), event.type, event.code, event.reason); };
  socket.onerror = (event) => console.log('error', event.error);
}
