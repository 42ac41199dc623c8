export const options = { cloud: { projectID: 5, name: 'a' }, ext: { loadimpact: { name: 'b' } } };
export default function () {}
