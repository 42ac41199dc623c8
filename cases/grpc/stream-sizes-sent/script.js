import grpc from 'k6/net/grpc';
const client = new grpc.Client();
client.load([__ENV.CERTS], 'cases.proto');
const ADDRESS = __ENV.BASE.slice('http://'.length);
export default function () {
  client.connect(ADDRESS, { plaintext: true, maxSendSize: 10 });
  const stream = new grpc.Stream(client, 'cases.Cases/Chat');
  stream.on('data', (message) => console.log('data', message.text));
  stream.on('error', (error) => console.log('error', `${error.code}`, error.message));
  stream.on('end', () => console.log('end'));
  stream.write({ text: 'short' });
  stream.write({ text: 'longer than ten bytes' });
  stream.end();
}
