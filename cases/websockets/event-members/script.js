import { WebSocket } from 'k6/websockets';
export default function () {
  const socket = new WebSocket(`${__ENV.BASE.replace('http', 'ws')}/ws/echo`);
  socket.addEventListener('open', (event) => { console.log(Object.keys(event).join()); socket.send('text'); });
  socket.addEventListener('message', (event) => { console.log(Object.keys(event).join(), event.data, Object.keys({ ...event }).length); socket.close(); });
  socket.addEventListener('close', (event) => console.log(Object.keys(event).join()));
}
