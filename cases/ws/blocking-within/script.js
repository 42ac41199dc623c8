import ws from 'k6/ws';
import http from 'k6/http';
import { sleep } from 'k6';
const W = __ENV.BASE.replace('http', 'ws');
export default function () {
  setTimeout(() => console.log('global timer'), 1);
  Promise.resolve().then(() => console.log('promise before'));
  ws.connect(`${W}/ws/echo`, {}, async (s) => {
    s.on('open', async () => {
      s.send('a');
      console.log('in', http.get(`${__ENV.BASE}/get`).status);
      sleep(0.05);
      console.log('slept');
      await null;
      console.log('async');
    });
    s.on('message', (m) => { console.log('message', m); s.close(); });
  });
  console.log('over');
}
