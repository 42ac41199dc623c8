import secrets from 'k6/secrets';
export default async function () {
  const value = await secrets.get('mine');
  console.log(value, value === 'cool', (await secrets.source('two').get('mine')) === value);
}
