import grpc from 'k6/net/grpc';
const client = new grpc.Client();
export default function () {
  console.log(client.connect(__ENV.BASE.slice('http://'.length), { plaintext: true, reflect: true, reflectMetadata: { 'x-a': 'b' } }));
  console.log(client.invoke('cases.Cases/EchoWord', { text: 'told' }).message.text);
  client.close();
}
