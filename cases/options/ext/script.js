export const options = { ext: { loadimpact: { projectID: 1 } }, cloud: { name: 'x' } };
export default function () { console.log('ran'); }
