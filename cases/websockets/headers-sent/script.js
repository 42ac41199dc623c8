import { WebSocket } from 'k6/websockets';
export default function () {
  const params = { headers: { 'X-Text': 'a', 'x-number': 5, 'X-Bool': true, 'Origin': 'http://own.example', 'Cookie': 'raw=1', 'Authorization': 'Bearer t' } };
  const ws = new WebSocket(`${__ENV.BASE.replace('http', 'ws')}/ws/headers`, null, params);
  ws.onmessage = (e) => { console.log(e.data); ws.close(); };
}
