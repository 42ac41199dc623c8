import ws from 'k6/ws';
const W = __ENV.BASE.replace('http', 'ws');
export default function () {
  ws.connect(`${W}/ws/ping`, {}, (s) => {
    s.on('ping', (...all) => console.log('ping', all.length));
    s.on('message', (m) => { console.log(m); s.close(); });
  });
  let pongs = 0;
  ws.connect(`${W}/ws/echo`, {}, (s) => {
    s.on('open', () => { s.ping(); s.ping(); s.ping(); });
    s.on('pong', () => { if (++pongs === 3) s.close(); });
  });
  console.log('pongs', pongs);
}
