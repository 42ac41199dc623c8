import { setTimeout } from 'k6/timers';
import http from 'k6/http';
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
export default async function () {
  let answers = 0;
  while (answers < 3) {
    const r = http.get(`${__ENV.BASE}/get?n=${++answers}`);
    console.log(r.json('query'));
    await pause(5);
  }
  console.log('ready', answers);
}
