import { WebSocket } from 'k6/websockets';
export const options = { thresholds: { ws_msgs_sent: ['count==5'], ws_msgs_received: ['count==5'], ws_sessions: ['count==1'], ws_connecting: ['max>0'] } };
export default function () {
  const ws = new WebSocket(`${__ENV.BASE.replace('http', 'ws')}/ws/echo`);
  let got = 0;
  ws.onopen = () => { for (let i = 0; i < 5; i++) ws.send(String(i)); };
  ws.onmessage = () => { if (++got === 5) ws.close(); };
}
