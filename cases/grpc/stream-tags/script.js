import exec from 'k6/execution';
import grpc from 'k6/net/grpc';
const client = new grpc.Client();
client.load([__ENV.CERTS], 'cases.proto');
const ADDRESS = __ENV.BASE.slice('http://'.length);
export const options = { systemTags: ['name', 'method', 'status', 'url', 'service', 'vu', 'iter', 'scenario', 'group'] };
function count(method, values, tags) {
  const stream = new grpc.Stream(client, `cases.Cases/${method}`, { tags });
  for (const value of values) stream.write(method === 'Chat' ? { text: `${value}` } : { value });
  stream.end();
}
export default function () {
  client.connect(ADDRESS, { plaintext: true });
  exec.vu.metrics.tags.user = 'before';
  count('Count', [3], { name: 'named', kind: 'server', number: 5, yes: true });
  count('Sum', [1, 2, 3], { name: 'named', kind: 'client' });
  count('Chat', [1, 2], { url: 'mine', method: 'mine', status: 'mine', kind: 'both' });
  count('CountAndFail', [2], { kind: 'failing' });
  exec.vu.metrics.tags.user = 'after';
}
