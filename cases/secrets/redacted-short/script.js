import secrets from 'k6/secrets';
export default async function () {
  await secrets.get('a');
  console.log('exact axe');
  await secrets.get('b');
  console.log('is 42', 42, 4242, [42], { n: 42 });
}
