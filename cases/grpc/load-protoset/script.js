import grpc from 'k6/net/grpc';
const client = new grpc.Client();
const methods = client.loadProtoset(`${__ENV.CERTS}/cases.protoset`);
export default function () {
  console.log(methods.length, methods[0].full_method);
  client.connect(__ENV.BASE.slice('http://'.length), { plaintext: true });
  console.log(client.invoke('cases.Cases/EchoWord', { text: 'x' }).message.text);
  client.close();
}
