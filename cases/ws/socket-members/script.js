import ws from 'k6/ws';
const show = (what, value) => {
  const listed = [];
  for (const name in value) listed.push(`${name} ${typeof value[name]}`);
  console.log(what, Object.keys(value).join(), '|', listed.join(), '|', Object.getOwnPropertyNames(value).length);
  console.log(what, JSON.stringify(value), '|', Object.entries({ ...value }).map(([name, own]) => `${name} ${typeof own}`).join());
};
export default function () {
  const response = ws.connect(`${__ENV.BASE.replace('http', 'ws')}/ws/echo`, (socket) => {
    show('socket', socket);
    const { on, send, close } = socket;
    on('open', () => send('text'));
    on('message', (message) => { console.log(message); close(); });
  });
  console.log(Object.keys(response).join(), Object.keys({ ...response }).length);
}
