import grpc from 'k6/net/grpc';
const client = new grpc.Client();
client.load([__ENV.CERTS], 'cases.proto');
const ADDRESS = __ENV.BASE.slice('http://'.length);
function attempt(name, action) {
  try {
    console.log(name, action());
  } catch (error) {
    console.log(name, 'threw', error.message.split(': proto:')[0]);
  }
}
export default function () {
  client.connect(ADDRESS, { plaintext: true });
  for (const service of [undefined, '', 'cases.Cases', 'down', 'odd']) {
    const r = client.healthCheck(service);
    console.log(service, r.status == 1, `${r.status}`, r.status === grpc.HealthCheckServing, JSON.stringify(r));
  }
  attempt('none', () => client.healthCheck('none'));
  client.close();
}
