import { WebSocket } from 'k6/websockets';
function chosen(offered) {
  return new Promise((done) => {
    const ws = new WebSocket(`${__ENV.BASE.replace('http', 'ws')}/ws/protocol`, offered);
    ws.onopen = () => { console.log(JSON.stringify(offered), JSON.stringify(ws.protocol)); ws.close(); };
    ws.onclose = done;
  });
}
export default async function () {
  await chosen('mqtt');
  await chosen(['graphql-ws', 'graphql-transport-ws']);
  await chosen([]);
  await chosen(undefined);
}
