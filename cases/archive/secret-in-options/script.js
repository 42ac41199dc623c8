import secrets from 'k6/secrets';
const value = await secrets.get('a');
export const options = {
  tags: { own: value },
  thresholds: { [`iterations{own:${value}}`]: [`count<${value}`] },
};
export default function () {}
