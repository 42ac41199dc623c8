import grpc from 'k6/net/grpc';
const client = new grpc.Client();
client.load([__ENV.CERTS], 'cases.proto');
const ADDRESS = __ENV.BASE.slice('http://'.length);
export default function () {
  client.connect(ADDRESS, { plaintext: true });
  for (const [method, message] of [['Count', { value: 0 }], ['Sum'], ['Chat'], ['CountAndFail', { value: 0 }]]) {
    const stream = new grpc.Stream(client, `cases.Cases/${method}`);
    stream.on('data', (data) => console.log(method, JSON.stringify(data)));
    stream.on('error', (error) => console.log(method, `${error.code}`, error.message));
    stream.on('end', () => console.log(method, 'end'));
    if (message) stream.write(message);
    stream.end();
  }
}
