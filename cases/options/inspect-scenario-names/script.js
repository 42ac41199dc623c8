export const options = { scenarios: { 'A_b-9': { executor: 'shared-iterations' }, 'with space': { executor: 'shared-iterations' } } };
export default function () {}
