import grpc from 'k6/net/grpc';
const client = new grpc.Client();
client.load([__ENV.CERTS], 'cases.proto');
const ADDRESS = __ENV.BASE.slice('http://'.length);
export default async function () {
  client.connect(ADDRESS, { plaintext: true });
  for (const text of ['a', 'b']) {
    const r = await client.asyncInvoke('cases.Cases/EchoWord', { text }, { tags: { text } });
    console.log(r.message.text, r.error);
  }
  client.close();
}
