import grpc from 'k6/net/grpc';
const client = new grpc.Client();
client.load([__ENV.CERTS], 'cases.proto');
const ADDRESS = __ENV.BASE.slice('http://'.length);
export const options = { systemTags: [] };
function count(method, ...messages) {
  const stream = new grpc.Stream(client, `cases.Cases/${method}`);
  for (const message of messages) stream.write(message);
  stream.end();
}
export default function () {
  client.connect(ADDRESS, { plaintext: true });
  count('Count', { value: 3 });
  count('Sum', { value: 1 }, { value: 2 });
  count('Chat', { text: 'a' }, { text: 'b' }, { text: 'c' });
}
