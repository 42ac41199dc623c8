import grpc from 'k6/net/grpc';
import { check } from 'k6';

const client = new grpc.Client();
client.load(['.'], 'helloworld.proto');
export const options = {
  scenarios: {
    open: { executor: 'constant-arrival-rate', rate: 150, timeUnit: '1s', duration: '8s', preAllocatedVUs: 20 },
  },
};
let connected = false;
export default function () {
  if (!connected) { client.connect('127.0.0.1:25051', { plaintext: true }); connected = true; }
  const answer = client.invoke('helloworld.Greeter/SayHello', { name: 'x' });
  check(answer, { 'greets x': (a) => a.message && a.message.message === 'Hello x' });
}
