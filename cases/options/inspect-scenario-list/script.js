export const options = { scenarios: [{ executor: 'shared-iterations' }] };
export default function () {}
