import grpc from 'k6/net/grpc';
const client = new grpc.Client();
client.load([__ENV.CERTS], 'cases.proto');
export default function () {
  client.connect(__ENV.BASE.slice('http://'.length), { plaintext: true });
  for (const name of ['cases.Cases/EchoWord', '/cases.Cases/EchoWord', 'cases.Cases.EchoWord', 'cases.Cases/echoWord', 'Cases/EchoWord', 'EchoWord', '', null, undefined, 5, 'cases.Cases/']) {
    try { console.log(JSON.stringify(name), JSON.stringify(client.invoke(name, { text: 'x' }).message)); } catch (e) { console.log(JSON.stringify(name), 'threw', e.name); }
  }
  client.close();
}
