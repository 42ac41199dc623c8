import { WebSocket, Blob } from 'k6/websockets';
const W = __ENV.BASE.replace('http', 'ws');
import http from 'k6/http';
import { sleep } from 'k6';
export default function () {
  const one = new WebSocket(`${W}/ws/send/3`);
  let got = 0;
  one.onmessage = (e) => { console.log(e.data, http.get(`${__ENV.BASE}/get`).status); if (++got === 3) one.close(); };
  const two = new WebSocket(`${W}/ws/echo`);
  two.onopen = () => { two.send('x'); sleep(0.05); two.send('y'); };
  let back = '';
  two.onmessage = (e) => { back += e.data; if (back === 'xy') { console.log(back); two.close(); } };
}
