import grpc from 'k6/net/grpc';
const client = new grpc.Client();
client.load([__ENV.CERTS], 'cases.proto');
const ADDRESS = __ENV.BASE.slice('http://'.length);
function listen(name, stream) {
  stream.on('data', (message, meta) => console.log(name, 'data', JSON.stringify(message), typeof meta.ts));
  stream.on('error', (error) => console.log(name, 'error', error.message, `${error.code}`, JSON.stringify(error.details)));
  stream.on('end', () => console.log(name, 'end'));
  return stream;
}
export default function () {
  client.connect(ADDRESS, { plaintext: true });
  const attempt = (name, action) => { try { action(); } catch (error) { console.log(name, error.message); } };
  attempt('none', () => new grpc.Stream());
  attempt('bad client', () => new grpc.Stream({}, 'a'));
  attempt('unknown', () => new grpc.Stream(client, 'cases.Cases/None'));
  attempt('params', () => new grpc.Stream(client, 'cases.Cases/Count', { bad: 1 }));
}
