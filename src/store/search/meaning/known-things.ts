/**
 * Kinds of things, each with well-known things of that kind: a question asks for a database, the record
 * names PostgreSQL.
 *
 * The names of a kind come first, divided by commas. It is asked for if a query has all words of one of them,
 * except for stop words. Words are without accents.
 */
export const kinds = `
  database, datastore, persistence, storage engine, rdbms, datenbank, base donnees, base datos,
    banco dados: postgresql postgres mysql mariadb sqlite oracle mssql sqlserver mongodb mongo
    couchdb couchbase cassandra dynamodb neo4j cockroachdb clickhouse duckdb supabase redshift
    bigquery rds aurora;
  orm, object mapper, database access, data access, query builder: prisma sequelize typeorm
    drizzle knex hibernate jpa sqlalchemy activerecord dapper mongoose entityframework;
  schema change, database migration, schema migration: flyway liquibase alembic migrate knex;
  cache, caching, fast storage, zwischenspeicher: redis memcached varnish lru ttl etag cdn;
  queue, message queue, message broker, background job, worker, task queue, event bus, messaging,
    async work, warteschlange, hintergrund, file attente, cola: bullmq bull rabbitmq kafka sqs sns
    celery sidekiq resque redis nats activemq pubsub kinesis servicebus eventbridge temporal mqtt;
  search, full text, search engine, suche: elasticsearch opensearch solr lucene algolia
    meilisearch typesense minisearch tsvector;
  object storage, blob storage, file storage, upload, attachment, dateien: s3 minio gcs bucket
    cloudinary;
  login, sign in, signin, authentication, identity, single sign on, sso, anmeldung, connexion,
    autenticacion: jwt oauth oauth2 oidc openid saml keycloak auth0 cognito okta passport session
    cookie passkey webauthn mfa totp ldap kerberos nextauth;
  authorization, permission, access control, who may, role, berechtigung, zugriff, permisos: rbac
    abac acl scope casbin opa policy role;
  secret, credential, password, geheimnis, passwort: vault kms ssm sops dotenv env keyring
    secretsmanager bcrypt argon2;
  encryption, transport security, certificate, verschlusselung: tls ssl https aes rsa letsencrypt
    certbot;
  unit test, test runner, test framework, testing, automated test, tests schreiben: jest vitest
    mocha jasmine pytest unittest rspec junit testng phpunit xunit nunit;
  browser test, end to end, e2e, ui test, acceptance test: playwright cypress selenium puppeteer
    cucumber;
  mock, test double, fake, stub: msw wiremock mockito factory fixture localstack;
  linter, code style, formatter, formatting, static analysis, code quality: eslint prettier biome
    pylint flake8 black ruff rubocop clippy rustfmt stylelint editorconfig sonarqube mypy pyright
    phpstan;
  continuous integration, ci, cd, pipeline, build server, automation: github actions jenkins
    gitlab circleci travis argocd codepipeline;
  deployment, deploy, release, hosting, rollout, ship, go live, bereitstellung, deploiement,
    despliegue: docker kubernetes helm heroku vercel netlify fly cloudfoundry ecs eks gke aks
    fargate lambda argocd ansible;
  container, virtualization, isolation: docker podman compose kubernetes vagrant;
  orchestration, cluster, scheduler of containers: kubernetes k8s nomad swarm ecs openshift;
  infrastructure as code, provisioning, infrastruktur: terraform pulumi cloudformation cdk ansible
    chef puppet;
  cloud, cloud provider, hosting provider: aws azure gcp google heroku digitalocean hetzner
    cloudflare;
  web framework, backend framework, server framework, api framework: express fastify nestjs django
    flask fastapi rails spring springboot laravel symfony aspnet gin echo phoenix;
  frontend, user interface, ui framework, javascript framework, spa, oberflache, interfaz: react
    vue angular svelte ember nextjs nuxt remix astro;
  state management, client state, store: redux mobx zustand pinia vuex ngrx;
  styling, css framework, look, design system, component library, stylesheet: tailwind bootstrap
    sass scss material shadcn radix storybook;
  bundler, build tool, module bundler, build system: webpack vite rollup esbuild maven gradle
    bazel make;
  package manager, dependency management, library manager: npm yarn pnpm bun pip poetry uv pipenv
    maven;
  monorepo, several packages, workspace: nx turborepo lerna rush pnpm bazel;
  api style, remote call, api protocol, interface between services, schnittstelle: rest graphql
    grpc openapi protobuf;
  api documentation, api description, contract: openapi swagger postman;
  real time, live update, push, streaming to the browser: websocket sse socketio mqtt;
  serialization, data format, exchange format, wire format: json yaml xml toml protobuf msgpack
    parquet cbor;
  validation, input check, schema validation: zod joi yup ajv pydantic jsonschema;
  error handling, exception, failure, fehler, erreur: exception catch throw retry sentry fallback
    circuit;
  logging, log, logs, protokoll: pino winston log4j logback serilog logstash loki;
  monitoring, observability, metrics, alert, tracing, uberwachung, surveillance: prometheus
    grafana datadog newrelic sentry opentelemetry jaeger zipkin cloudwatch splunk kibana pagerduty;
  concurrency, race condition, parallel access, mutual exclusion, simultaneous: lock mutex
    semaphore transaction atomic queue;
  identifier, primary key, id: uuid ulid guid nanoid;
  scheduling, scheduled job, recurring task, nightly: cron crontab quartz celerybeat;
  email, mail, send mail, notification: smtp sendgrid mailgun notify;
  payment, billing, checkout, zahlung, paiement, pago: stripe paypal;
  feature flag, gradual rollout, toggle: launchdarkly unleash flag;
  reverse proxy, web server, load balancer, gateway: nginx apache traefik haproxy envoy;
  version control, source control, branching, versionsverwaltung: git github gitlab trunk;
  commit message, commit convention, changelog: conventional semver;
  versioning, version number: semver;
  documentation, docs, handbook, dokumentation: markdown mkdocs docusaurus readme adr;
  content management, cms: wordpress contentful strapi drupal;
  template, template engine, server side rendering: handlebars ejs jinja mustache;
  translation, localization, internationalization, i18n, ubersetzung: i18next;
  dependency update, outdated packages: dependabot renovate;
  vulnerability, security scan, dependency audit: snyk trivy dependabot owasp sonarqube;
  backup, disaster recovery, sicherung: snapshot restore replica;
  architecture style, structure of the code, layering: hexagonal ddd cqrs microservice mvc
    eventsourcing;
  dependency injection, wiring: inversify tsyringe spring dagger`;
