// Each user opens one connection and makes one unary call per iteration, with a check.
import grpc from 'k6/net/grpc';
import { check } from 'k6';

const client = new grpc.Client();
client.load([__ENV.PROTO], 'hello.proto');

export default function () {
  if (__ITER === 0) {
    client.connect(__ENV.ADDRESS, { plaintext: true });
  }
  const answer = client.invoke('helloworld.Greeter/SayHello', { name: 'world' });
  check(answer, { ok: (answer) => answer.status === grpc.StatusOK });
}
