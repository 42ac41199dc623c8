export default () => { console.log('arrow'); };
