// The churn soak over gRPC: each iteration connects, makes one call and closes.
import grpc from 'k6/net/grpc';
import { check } from 'k6';

const client = new grpc.Client();
client.load([__ENV.PROTO], 'hello.proto');

export default function () {
  client.connect(__ENV.ADDRESS, { plaintext: true, timeout: '1s' });
  const response = client.invoke('helloworld.Greeter/SayHello', { name: 'world' }, { timeout: '1s' });
  check(response, { ok: (response) => response.status === grpc.StatusOK });
  client.close();
}
