import grpc from 'k6/net/grpc';
import { check } from 'k6';
const client = new grpc.Client();
client.load([__ENV.CERTS], 'cases.proto');
export default () => {
  client.connect(__ENV.BASE.slice('http://'.length), { plaintext: true });
  const response = client.invoke('cases.Cases/EchoWord', { text: 'hello' });
  check(response, { 'status is OK': (r) => r && r.status === grpc.StatusOK });
  console.log(JSON.stringify(response.message));
  const stream = new grpc.Stream(client, 'cases.Cases/Count', null);
  let sum = 0;
  stream.on('data', (n) => { sum += Number(n.value); });
  stream.on('end', () => { console.log('sum', sum); client.close(); });
  stream.write({ value: 4 });
  stream.end();
};
