import secrets from 'k6/secrets';
export default async function () {
  console.log('topsecret before');
  await secrets.get('b');
  console.log('topsecret still', 'other');
}
