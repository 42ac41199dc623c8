import grpc from 'k6/net/grpc';
const client = new grpc.Client();
client.load([__ENV.CERTS], 'cases.proto');
const ADDRESS = __ENV.BASE.slice('http://'.length);
function listen(name, stream) {
  stream.on('data', (message, meta) => console.log(name, 'data', JSON.stringify(message), typeof meta.ts));

  stream.on('end', () => console.log(name, 'end'));
  return stream;
}
export default function () {
  client.connect(ADDRESS, { plaintext: true });
  const s = listen('fail', new grpc.Stream(client, 'cases.Cases/CountAndFail'));
  s.write({ value: 2 });
  s.end();
}
