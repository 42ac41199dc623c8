import grpc from 'k6/net/grpc';
const client = new grpc.Client();
client.load([__ENV.CERTS], 'cases.proto');
const ADDRESS = __ENV.BASE.slice('http://'.length);
function attempt(name, action) {
  try {
    console.log(name, action());
  } catch (error) {
    console.log(name, 'threw', error.message.split(': proto:')[0]);
  }
}
export default function () {
  attempt('before', () => client.invoke('cases.Cases/EchoWord', {}));
  client.connect(ADDRESS, { plaintext: true });
  attempt('there', () => client.invoke('cases.Cases/EchoWord', {}).status == 0);
  attempt('close', () => client.close());
  attempt('after', () => client.invoke('cases.Cases/EchoWord', {}));
  attempt('again', () => client.close());
  attempt('stream', () => new grpc.Stream(client, 'cases.Cases/Count'));
}
