import grpc from 'k6/net/grpc';
const client = new grpc.Client();
client.load([__ENV.CERTS], 'cases.proto');
const ADDRESS = __ENV.BASE.slice('http://'.length);
export default function () {
  client.connect(ADDRESS, { plaintext: true });
  const stream = new grpc.Stream(client, 'cases.Cases/Chat');
  stream.on('data', (message) => {
    console.log('data', JSON.stringify(message));
    client.close();
  });
  stream.on('error', (error) => console.log('error', `${error.code}`, error.message));
  stream.on('end', () => console.log('end'));
  stream.write({ text: 'a' });
}
