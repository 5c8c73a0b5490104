import Cambium
import CambiumCommands

/// The description of the interface for programs, in OpenAPI 3.1, made from the table of commands.
enum OpenAPI {
  static let response = Response(
    200,
    headers: [
      ("Content-Type", "application/json; charset=utf-8"), ("Cache-Control", "no-store"),
    ], body: .bytes(Array(JSONWriter.text(.map(document)).utf8)))

  private static let document: ValueMap = [
    "openapi": "3.1.0",
    "info": [
      "title": "Cambium", "version": .string(CommandService.version),
      "description": """
      The commands of cambium over HTTP. An answer is what the command prints with --json: an \
      object, or an object a line. Commands that find nothing answer with no line, or with \
      `{"found": false}`.
      """,
    ],
    "paths": .map(paths),
    "components": [
      "schemas": ["Error": .map(errorSchema), "Job": .map(jobSchema)],
      "securitySchemes": ["token": ["type": "http", "scheme": "bearer"]],
    ],
    "security": [["token": []], [:]],
  ]

  private static var paths: ValueMap {
    var paths = fixedPaths
    for offer in CommandService.offers {
      let path = CommandInterface.prefix + offer.name
      var item = ValueMap()
      if case .map(let known)? = paths[path] { item = known }
      item[offer.method.rawValue] = .map(operation(offer))
      paths[path] = .map(item)
    }
    return paths
  }

  // MARK: Commands

  private static func operation(_ offer: CommandOffer) -> ValueMap {
    var operation: ValueMap = [
      "operationId": .string("\(offer.method.rawValue)-\(offer.name)"),
      "summary": .string(offer.summary),
      "description": .string("`\(offer.usage)`\n\n\(offer.discussion)"),
      "parameters": .array(offer.parameters.map(parameter) + headers(offer)),
      "responses": .map(responses(offer)),
    ]
    if let body = offer.body {
      operation["requestBody"] = [
        "description": .string(body), "required": .bool(offer.name == "apply"),
        "content": [
          "application/json": ["schema": .map(ValueMap())],
          "application/x-ndjson": ["schema": ["type": "string"]],
          "text/plain": ["schema": ["type": "string"]],
        ],
      ]
    }
    return operation
  }

  private static func parameter(_ parameter: CommandOffer.Parameter) -> Value {
    let schema = Value.map(parameter.schema)
    return .map([
      "name": .string(parameter.name), "in": "query", "required": .bool(parameter.isRequired),
      "description": .string(parameter.help),
      "schema": parameter.repeats ? ["type": "array", "items": schema] : schema,
      "style": "form", "explode": true, "allowEmptyValue": .bool(parameter.isFlag),
    ])
  }

  private static func headers(_ offer: CommandOffer) -> [Value] {
    var headers: [Value] = []
    if offer.isStream && offer.name == "changes" {
      headers.append([
        "name": "Last-Event-ID", "in": "header", "required": false,
        "description": "the last transaction that was seen; the stream goes on after it",
        "schema": ["type": "integer", "minimum": 0],
      ])
    }
    if offer.isWriting {
      headers.append([
        "name": "Idempotency-Key", "in": "header", "required": false,
        "description":
          "a request with the key of an earlier one is answered as that was, and not made",
        "schema": ["type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"],
      ])
    }
    return headers
  }

  private static func responses(_ offer: CommandOffer) -> ValueMap {
    var content = ValueMap()
    for type in offer.mediaTypes { content[type] = ["schema": .map(schema(type, offer))] }
    var responses: ValueMap = [
      "200": [
        "description": "the answer", "content": .map(content),
        "headers": [
          "Cambium-Sequence": [
            "description": "the newest transaction when the command began",
            "schema": ["type": "integer", "minimum": 0],
          ]
        ],
      ]
    ]
    if offer.name == "verify" {
      responses = [
        "202": [
          "description": "the work has begun",
          "content": ["application/json": ["schema": ["$ref": "#/components/schemas/Job"]]],
          "headers": ["Location": ["schema": ["type": "string"], "description": "where to ask"]],
        ]
      ]
    }
    for (status, text) in errors(offer) { responses[status] = .map(error(text)) }
    return responses
  }

  private static func schema(_ type: String, _ offer: CommandOffer) -> ValueMap {
    // A value is whatever is stored; everything else is an object.
    if type == "application/json" && offer.isObject && offer.name != "get" {
      return ["type": "object"]
    }
    return type == "application/json" ? [:] : ["type": "string"]
  }

  private static func errors(_ offer: CommandOffer) -> [(String, String)] {
    var errors = [
      ("400", "the request cannot be understood"), ("401", "a token is needed, or not known"),
      ("403", "the token does not allow this"), ("404", "nothing is there"),
      ("410", "the past that is asked for was compacted"), ("421", "another host is named"),
      ("500", "stored bytes are damaged"), ("503", "another writer is at work, or too much is"),
    ]
    if offer.name == "verify" { errors.append(("429", "too many jobs are running")) }
    if offer.method == .post {
      errors += [
        ("409", "it conflicts with what is there"), ("412", "another transaction came before"),
        ("413", "it is too long"), ("422", "the Idempotency-Key is that of another request"),
      ]
    }
    return errors
  }

  private static func error(_ description: String) -> ValueMap {
    [
      "description": .string(description),
      "content": ["application/json": ["schema": ["$ref": "#/components/schemas/Error"]]],
    ]
  }

  // MARK: What is no command

  private static var fixedPaths: ValueMap {
    let id: Value = [
      "name": "id", "in": "path", "required": true, "description": "the job",
      "schema": ["type": "string", "minLength": 1, "pattern": "^[a-z0-9-]+$"],
    ]
    return [
      "/v1/": ["get": .map(object("get-commands", "lists the commands"))],
      "/v1/openapi.json": ["get": .map(object("get-openapi", "this description"))],
      "/v1/server": ["get": .map(object("get-server", "says what is served, and how"))],
      "/v1/jobs": ["get": .map(object("get-jobs", "lists the jobs"))],
      "/v1/jobs/{id}": [
        "parameters": [id], "get": .map(object("get-job", "how far a job is", "Job")),
        "delete": .map(object("delete-job", "ends a job, and forgets it", "Job")),
      ],
      "/v1/jobs/{id}/events": [
        "parameters": [id],
        "get": [
          "operationId": "get-job-events", "summary": "follows a job",
          "responses": [
            "200": [
              "description": "server-sent events: progress, then end",
              "content": ["text/event-stream": ["schema": ["type": "string"]]],
            ], "403": .map(error("the token does not allow this")),
            "404": .map(error("there is no such job")),
            "503": .map(error("too many streams are open")),
          ],
        ],
      ],
    ]
  }

  private static func object(_ id: String, _ summary: String, _ schema: String? = nil) -> ValueMap {
    var content: Value = ["type": "object"]
    if let schema { content = ["$ref": .string("#/components/schemas/\(schema)")] }
    return [
      "operationId": .string(id), "summary": .string(summary),
      "responses": [
        "200": [
          "description": "the answer", "content": ["application/json": ["schema": content]],
        ], "401": .map(error("a token is needed, or not known")),
        "403": .map(error("the token does not allow this")),
        "404": .map(error("nothing is there")),
      ],
    ]
  }

  private static let errorSchema: ValueMap = [
    "type": "object", "required": ["error"],
    "properties": [
      "error": [
        "type": "object", "required": ["code", "message"],
        "properties": [
          "code": ["type": "string", "description": "a stable name for programs"],
          "message": ["type": "string"], "hint": ["type": "string"],
          "position": [
            "type": "integer", "description": "the place of what is wrong, in characters",
          ],
        ],
      ]
    ],
  ]

  private static let jobSchema: ValueMap = [
    "type": "object", "required": ["id", "kind", "state"],
    "properties": [
      "id": ["type": "string"], "kind": ["type": "string"],
      "state": ["type": "string", "enum": ["running", "done", "failed", "cancelled"]],
      "phase": ["type": "string"], "done": ["type": "integer"], "total": ["type": "integer"],
      "result": ["type": "object"],
    ],
  ]
}
