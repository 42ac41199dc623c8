import grpc from 'k6/net/grpc';
const client = new grpc.Client();
client.load([__ENV.CERTS], 'cases.proto');
const ADDRESS = __ENV.BASE.slice('http://'.length);
export default function () {
  client.connect(ADDRESS, { plaintext: true });
  client.asyncInvoke('cases.Cases/EchoWord', { text: 'later' }).then((r) => console.log('then', r.message.text, r.status == 0));
  client.asyncInvoke('cases.Cases/Fail', { code: 5, message: 'm' }).then((r) => console.log('failed', r.error.message));
  console.log('first');
}
