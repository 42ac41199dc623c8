import ws from 'k6/ws';
const W = __ENV.BASE.replace('http', 'ws');
export default function () {
  for (const url of ['ws://127.0.0.1:1/', `${__ENV.BASE}/ws/echo`, '', `${W}/nothing`, `${W}/ws/refuse/500`, `${W}/redirect/1`, `${W}/ws/bad-accept`, `${W}/ws/not-upgraded`, `${__ENV.TLS.replace('http', 'ws')}/ws/echo`, `${W.replace('//', '//u:p@')}/ws/echo`, `${__ENV.RAW.replace('http', 'ws')}/close`]) {
    const res = ws.connect(url, {}, () => console.log('never'));
    console.log(url, res.url, res.status, JSON.stringify(res.body), res.error, Object.keys(res.headers).sort().join());
  }
}
